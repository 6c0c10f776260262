/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's line to the host, where time is real: over the network card, a word a line.
 *
 *   agent                       host
 *   ready                       the cell is unpacked; the host may ask for the time, and starts it
 *                       clock   what is your CLOCK_MONOTONIC?
 *   NS
 *                          go   start the subject
 *   started                     it runs
 *                    accepted   the emulator has accepted it, and holds it
 *   released                    what was to be done then is done
 *                       alone   the emulator gave it up: end the subject, if it has not ended since
 *   ended                       the subject is; the host may ask for the time again
 *                      finish   leave the results, and stop
 */
#ifndef AGENT_CHANNEL_H
#define AGENT_CHANNEL_H

#include <stdint.h>

/* Brings the network card up and calls the host at that port: a descriptor or a negative errno. */
int channel_open(uint16_t port);

/* 0 or a negative errno. */
int channel_say(int channel, const char *word);

/*
 * Answers every question for the time until the host says `word`. 0, or -EPROTO where it says
 * something else, or -EPIPE where it is gone.
 */
int channel_await(int channel, const char *word);

#endif
