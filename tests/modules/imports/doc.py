"""doc of doc"""
