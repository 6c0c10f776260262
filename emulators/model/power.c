/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "power.h"

#include "family.h"

static void lose(struct chip *chip, uint64_t at_ns)
{
	chip_abort_work(chip, at_ns);
	if (chip->family->power_off)
		chip->family->power_off(chip);
	chip->debt.open = false;
	chip->write_debt.open = false;
	chip->power.off = true;
	chip->power.at_ns = at_ns;
	chip->power.told = false;
}

void chip_power_off(struct chip *chip, uint64_t at_ns)
{
	chip_settle(chip, at_ns);
	if (!chip->power.off)
		lose(chip, at_ns);
}

void chip_power_on(struct chip *chip, uint64_t at_ns)
{
	chip->power.off = false;
	chip->family->power_up(chip, at_ns);
}

void chip_power_cycle(struct chip *chip, uint64_t at_ns)
{
	chip_power_off(chip, at_ns);
	chip_power_on(chip, at_ns);
}

void chip_plan_power_cut(struct chip *chip, const struct power_cut *cut)
{
	chip->power = (struct chip_power){
		.cut = *cut,
		.works_before = chip->work_count,
		.told = true,
	};
}

void power_plan(struct chip *chip)
{
	uint64_t work_ns = chip->busy_until_ns - chip->busy_since_ns;

	if (chip->power.planned)
		chip->power.at_ns =
			chip->busy_since_ns + power_cut_after_ns(&chip->power.cut, work_ns);
}

void power_count_work(struct chip *chip)
{
	if (chip->work_count - chip->power.works_before == chip->power.cut.nth)
		chip->power.planned = true;
	power_plan(chip);
}

static void lose_as_planned(struct chip *chip)
{
	uint64_t at_ns = chip->power.at_ns;

	chip->power.planned = false;
	if (chip->busy_until_ns < at_ns)
		chip_settle(chip, at_ns);
	lose(chip, at_ns);
}

void power_settle(struct chip *chip, uint64_t now_ns)
{
	const struct chip_power *power = &chip->power;

	if (power->planned && power->at_ns <= now_ns)
		lose_as_planned(chip);
	if (power->off && power->cut.off_ns > 0 && now_ns - power->at_ns >= power->cut.off_ns)
		chip_power_on(chip, power->at_ns + power->cut.off_ns);
}

bool power_is_off(struct chip *chip, struct chip_facts *facts)
{
	struct chip_power *power = &chip->power;

	facts->lost_power = !power->told;
	facts->lost_power_ns = power->told ? 0 : power->at_ns;
	power->told = true;
	if (power->off)
		facts->name = "OFF";
	return power->off;
}
