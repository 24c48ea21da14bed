"""What leaders, followers, their disks and the controller do: every change that ``oracle.transitions`` hands out."""
