"""Is a cluster read truly, and is each mistake found?"""
