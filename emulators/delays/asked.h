/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a call asks for: an argument, or the time that it points to. Calls QEMU. */
#ifndef EMULATORS_DELAYS_ASKED_H
#define EMULATORS_DELAYS_ASKED_H

#include <stdint.h>

#include "record.h"
#include "registers.h"
#include "stacks.h"
#include "wish.h"

/*
 * In the unit of @function, in ns where it points to a time. @stack is as the called function finds
 * it. 0 where @asking says that it is unknown.
 */
uint64_t asked_read(struct registers *registers, const struct wish_function *function,
	const struct stack *stack, struct asking *asking);

#endif
