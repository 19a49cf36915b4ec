/** A backup, a restore or a migration that cannot be done. The message says why, and what to do about it. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
}
