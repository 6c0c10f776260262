/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's connection to the host in the live lane: over the network card, one word a line.
 *
 *   agent                       host
 *   ready                       the cell is unpacked; the host may ask for the time
 *                       clock   what is your CLOCK_MONOTONIC?
 *   NS
 *                          go   start the subject
 *   started                     the subject runs
 *                    accepted   the emulator has accepted the subject, but does not serve it yet
 *   released                    the hazards that depend on this have run: serve it
 *                       alone   the emulator disconnected the subject: end it, if it still runs
 *   ended                       the subject has ended, or did not start, and the agent reports
 *                               why; the host may ask for the time again
 *                      finish   leave the results, and stop
 */
#ifndef AGENT_CHANNEL_H
#define AGENT_CHANNEL_H

#include <stdint.h>

/* Brings the card up and connects to the host's port. Returns a descriptor or a negative errno. */
int channel_open(uint16_t port);

/* Sends a word. Returns 0 or a negative errno. */
int channel_say(int channel, const char *word);

/*
 * Answers what the host sends, until that is `word`. Returns 0, -EPROTO for an unknown word, or
 * -EPIPE if the host is gone.
 */
int channel_await(int channel, const char *word);

#endif
