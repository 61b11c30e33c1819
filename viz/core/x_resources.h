/* x_resources.h: what an X display is told of a person's screen: its resources, as xrdb writes them. */
#ifndef X_RESOURCES_H
#define X_RESOURCES_H

/* Xft.dpi, as a percentage of the usual 96: 144 is 150. 0: not said, or no number from 48 to 384. */
int x_resources_scale_percent(const char *resources);

#endif
