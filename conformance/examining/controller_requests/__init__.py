"""What does the tester do as the controller of one broker, act by act (RM-01 to RM-06)?"""
