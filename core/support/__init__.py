"""Small services that every room uses: errors, log, file access, caches, words for messages.

Imports nothing of tfg but itself.
"""
