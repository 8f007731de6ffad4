// What the operating system refused, told from our own errors.

export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && "syscall" in error;
}

/** Whether there was no room for it. */
export function isFull({ code }: NodeJS.ErrnoException): boolean {
  return code === "ENOSPC" || code === "EFBIG" || code === "EDQUOT";
}
