# make install and make uninstall: PREFIX (/usr/local), DESTDIR for packagers.
#
# Installs programs, the headers for programs that mark regions or call hooks, library and plug-in for dependence
# tracing, manual pages and documents below PREFIX; udev rules and the service's unit where udev and systemd search below
# PREFIX. It does not change /etc: a sample configuration is in share/doc/bustap.

INSTALL ?= install
BINDIR  := $(DESTDIR)$(PREFIX)/bin
SBINDIR := $(DESTDIR)$(PREFIX)/sbin
MANDIR  := $(DESTDIR)$(PREFIX)/share/man
DOCDIR  := $(DESTDIR)$(PREFIX)/share/doc/bustap
INCDIR  := $(DESTDIR)$(PREFIX)/include/bustap
LIBDIR  := $(DESTDIR)$(PREFIX)/lib/bustap
UDEVDIR := $(DESTDIR)$(PREFIX)/lib/udev/rules.d
UNITDIR := $(DESTDIR)$(PREFIX)/lib/systemd/system
# where the shells search for completion; bash and fish by the name of the program
BASHDIR := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSHDIR  := $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISHDIR := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d

# In the folders they have here, so that what one says of another is true there too.
MANUALS := $(notdir $(sort $(wildcard doc/bustap*.1)))

# The last ones are the programs of the tutorial.
INSTALLED_DOCUMENTS := README.md CHANGELOG.md LICENSE firmware/README.md firmware/gateware/README.md formats/foreign/gem5_packet.proto \
                       $(patsubst %,tests/e2e/programs/%.c,loops smooth stock tally) $(MANUALS:%=doc/%) doc/bustapd.8 \
                       doc/bustapd.conf doc/60-bustap.rules doc/61-bustap-access.rules $(filter-out doc/architecture.md,$(sort $(wildcard doc/*.md doc/*.svg)))

INSTALLED := $(BINDIR)/bustap $(BINDIR)/b2a $(SBINDIR)/bustapd \
             $(MANUALS:%=$(MANDIR)/man1/%) $(MANDIR)/man1/b2a.1 $(MANDIR)/man8/bustapd.8 \
             $(INCDIR)/mark.h $(INCDIR)/depend_hooks.h \
             $(LIBDIR)/libbustap-depend.a $(PLUGIN:$(BUILD)/%=$(LIBDIR)/%) \
             $(UDEVDIR)/60-bustap.rules $(UDEVDIR)/61-bustap-access.rules $(UNITDIR)/bustapd.service \
             $(patsubst %,$(BASHDIR)/%,bustap b2a bustapd) $(ZSHDIR)/_bustap \
             $(patsubst %,$(FISHDIR)/%.fish,bustap b2a bustapd) \
             $(addprefix $(DOCDIR)/,$(INSTALLED_DOCUMENTS))

.PHONY: install uninstall
install: all
	$(INSTALL) -d $(sort $(dir $(INSTALLED)))
	$(INSTALL) -m 755 $(BUILD)/$(if $(MPI),mpi/)bustap $(BINDIR)/bustap
	ln -sf bustap $(BINDIR)/b2a
	$(INSTALL) -m 755 $(BUILD)/bustapd $(SBINDIR)/bustapd
	$(INSTALL) -m 644 $(MANUALS:%=doc/%) $(MANDIR)/man1
	ln -sf bustap.1 $(MANDIR)/man1/b2a.1
	$(INSTALL) -m 644 doc/bustapd.8 $(MANDIR)/man8/bustapd.8
	$(INSTALL) -m 644 capture/exec/dispatch/mark.h $(INCDIR)/mark.h
	$(INSTALL) -m 644 capture/instrument/depend_hooks.h $(INCDIR)/depend_hooks.h
	$(INSTALL) -m 644 $(BUILD)/libbustap-depend.a $(PLUGIN) $(LIBDIR)
	$(INSTALL) -m 644 doc/60-bustap.rules $(UDEVDIR)/60-bustap.rules
	$(INSTALL) -m 644 doc/61-bustap-access.rules $(UDEVDIR)/61-bustap-access.rules
	sed 's,/usr/local/,$(PREFIX)/,' doc/bustapd.service > $(UNITDIR)/bustapd.service
	chmod 644 $(UNITDIR)/bustapd.service
	$(INSTALL) -m 644 tools/common/completion.bash $(BASHDIR)/bustap
	$(INSTALL) -m 644 tools/common/completion.zsh $(ZSHDIR)/_bustap
	$(INSTALL) -m 644 tools/common/completion.fish $(FISHDIR)/bustap.fish
	for program in b2a bustapd; do \
	    ln -sf bustap $(BASHDIR)/$$program && ln -sf bustap.fish $(FISHDIR)/$$program.fish || exit 1; \
	done
	for document in $(INSTALLED_DOCUMENTS); do \
	    $(INSTALL) -m 644 $$document $(DOCDIR)/$$document || exit 1; \
	done

uninstall:
	rm -f $(INSTALLED)
	-rmdir $(INCDIR) $(LIBDIR) $(DOCDIR)/doc $(DOCDIR)/firmware/gateware $(DOCDIR)/firmware $(DOCDIR)/formats/foreign $(DOCDIR)/formats \
	    $(addprefix $(DOCDIR)/,tests/e2e/programs tests/e2e tests) $(DOCDIR) 2>/dev/null
