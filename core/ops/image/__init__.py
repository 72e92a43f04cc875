"""Op families of images and sound: codecs, resizing, colours, boxes, spectrograms."""
