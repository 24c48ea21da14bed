"""High watermark and log end offset, moved and read one half round trip at a time (documents 000 to 004).

HW-02 to HW-14, one file a row; HW-01, HW-09 and HW-10 are held against every probe of every run.
"""
