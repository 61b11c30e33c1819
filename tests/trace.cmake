# The importers of trace/.
