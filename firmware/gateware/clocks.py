# nextpnr-ice40 --pre-pack: what it aims at, in MHz; a little above the limits in gateware.mk.
ctx.addClock("bclk", 104)
ctx.addClock("core_clock", 70)
ctx.addClock("clkout", 70)
