/**
 * Creates the default StorageClass for `orch up`. This StorageClass applies to claims that specify no class. The
 * built-in provisioner creates volumes of this class as directories. User changes to the StorageClass are preserved.
 * With `--default-storage-class=false`, the StorageClass is not created.
 */
import { vendorKey } from '../../api/model/vendor.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { atStart } from '../../client/reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import { createMissing } from './own-objects.ts'

/** Returns a loop that creates the default StorageClass if it is missing. */
export function defaultStorageClassLoop(catalogue: Catalogue): Loop {
  return {
    name: 'default-storage-class',
    sources: [atStart('standard')],
    reconcile: async (name) => {
      const classes = catalogue.stored('storage', 'storageclasses')
      if (classes === undefined) return 'done'
      const provisioner = vendorKey(classes.vendor, 'host-path')
      await createMissing(
        classes,
        { namespace: '', name },
        {
          metadata: { annotations: { [vendorKey(classes.vendor, 'is-default-class', 'storageclass')]: 'true' } },
          provisioner,
          reclaimPolicy: 'Delete',
          volumeBindingMode: 'Immediate',
          allowVolumeExpansion: true,
        },
      )
      return 'done'
    },
  }
}
