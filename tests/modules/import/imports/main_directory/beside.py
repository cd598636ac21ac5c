"""Beside the main program of a directory."""
