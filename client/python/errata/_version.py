"""The version of the package: that of the project, set when it is built."""
__version__ = "0.0.0"
