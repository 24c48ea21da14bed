"""High watermark and log end offset, moved and read one half round trip at a time (documents 000 to 004).

One module a question: which end offsets there are, on which occasions the high watermark moves, whom it waits for,
what answers carry, what a disk keeps of it.
"""
