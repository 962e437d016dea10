# seconds: 1200
# alone
# 40 MB/s of frames for 20 s, from USB to files, and nothing is lost.
keep_up : :
measured "$counts"
