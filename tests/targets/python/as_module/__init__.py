"""as_module -- a package that is run by its name: python -m as_module"""
