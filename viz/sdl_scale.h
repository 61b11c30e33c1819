/* sdl_scale.h: how much larger than usual a display wants things. */
#ifndef SDL_SCALE_H
#define SDL_SCALE_H

/* Of pixels of the output to units of the window where these differ (Wayland), else by Xft.dpi (X11);
 * 100: as usual. Call after SDL's video has begun. */
int sdl_scale_percent(int output_width, int window_width);

#endif
