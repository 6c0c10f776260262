/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state in which the first client finds the part, once its moment has come.
 */
#ifndef EMULATORS_SERPROG_START_H
#define EMULATORS_SERPROG_START_H

#include "clock.h"
#include "codec.h"
#include "model/start_state.h"
#include "record/events.h"

struct start {
	enum start_state state;
	bool has_begun;
};

/* A client is connected. */
void start_at_connect(
	struct start *start, struct chip *chip, struct clock *clock, struct events *events);

/* It asks for @request at @now_ns, which may be what the state begins with or just before. */
void start_at_request(struct start *start, struct chip *chip, const struct serprog_request *request,
	uint64_t now_ns, struct events *events);

#endif
