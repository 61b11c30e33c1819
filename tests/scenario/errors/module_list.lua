use("nn").ModuleList()
