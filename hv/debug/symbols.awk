# SPDX-License-Identifier: GPL-2.0-only
# nm -n vellum.elf | awk -f symbols.awk > symbols.asm
#
# Makes the table behind symbol_find(): the text symbols' offsets and names. With no
# input it makes an empty table of the same shape, for the first of the two links.
# The section stands behind the text, so that filling it moves no function.

BEGIN {
	print "section .symbols alloc noexec nowrite align=8"
	print "global symbol_table, symbol_table_end, symbol_names"
	print "symbol_table:"
}

# A compiler's "name.cold" and "name.part.0" are called by the function's own name.
$2 ~ /^[tT]$/ && $1 ~ /^ffffffff/ && $3 !~ /^(\.|image_|fault_fixups)/ {
	sub(/\..*/, "", $3)
	printf "\tdd 0x%s - 0x80000000, name_%d - symbol_names\n", substr($1, 9), count
	names[count++] = $3
}

END {
	print "symbol_table_end:"
	print "symbol_names:"
	for (i = 0; i < count; i++)
		printf "name_%d: db \"%s\", 0\n", i, names[i]
}
