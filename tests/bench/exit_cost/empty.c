// SPDX-License-Identifier: GPL-2.0-only
/* A program that does nothing: what its exec takes is the kernel's, the linker's and libc's. */
int main(void)
{
	return 0;
}
