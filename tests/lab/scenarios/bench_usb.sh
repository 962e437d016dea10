# group: bench
# alone
# seconds: 200
# The link alone: a bare loop of libusb transfers and the driver's ring, at full speed and at 40 MB/s.
plug
for rate in max 40M; do
    model raw $rate
    for reader in bare driver; do
        echo "@progress $rate $reader: $(lab_read $reader 5)" >/dev/console
    done
done
model raw off
measured "bytes with their status bytes; cpu in seconds of the guest"
