/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NAMES_OF_PART_H
#define NAMES_OF_PART_H

/**
 * Returns the names that releases of flashrom have for a part of emulators/, ended by NULL. It is
 * in a separate file because no file includes headers of both emulators/ and flashrom/.
 */
const char *const *names_of_part(const char *part);

#endif
