"""Passes that change the layout of images, NCHW or NHWC, with few transposes."""
