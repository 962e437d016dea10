# seconds: 150
# alone
# tries: 2
# 40 MB/s of frames for 20 s, from USB to files, and nothing is lost.
sustain
check_sustained
measured "$counts"
