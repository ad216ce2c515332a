"""Pictures of what was found.  Nothing here is imported before a picture is asked for."""
