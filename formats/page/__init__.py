"""The page of `tfg view`: one HTML file that needs no network."""
