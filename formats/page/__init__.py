"""The page of `tfg view`: a single HTML file that needs no network."""
