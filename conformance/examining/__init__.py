"""How is each examination conducted? One module an entry's module; an entry names its subject here."""
