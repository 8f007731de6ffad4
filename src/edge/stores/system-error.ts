// Detects errors of the operating system.

export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && "syscall" in error;
}

/** Whether the disk or a quota was full. */
export function isFull({ code }: NodeJS.ErrnoException): boolean {
  return code === "ENOSPC" || code === "EFBIG" || code === "EDQUOT";
}
