/** Thrown if a backup, restore or migration is impossible. The message states the reason and the remedy. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
}
