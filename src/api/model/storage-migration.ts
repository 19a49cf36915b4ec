/** Definitions that the API server shares with the control loop that runs StorageVersionMigrations. */

/**
 * Field manager of the control loop. A write by this manager is committed even if it does not change the object, so
 * that the object is stored in its current form and encrypted with the current key.
 */
export const storageMigrator = 'storage-version-migrator-controller'

interface MigrationStatus {
  readonly conditions?: readonly { readonly type?: string; readonly status?: string }[]
}

/** Returns whether a migration is in this state, according to its conditions. */
export function isMigration(state: 'Running' | 'Succeeded' | 'Failed', { conditions = [] }: MigrationStatus): boolean {
  return conditions.some(({ type, status }) => type === state && status === 'True')
}
