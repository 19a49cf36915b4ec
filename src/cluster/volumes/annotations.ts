/** Defines the annotations in which Kubernetes records the binding of claims and volumes. They are part of the API. */
import { type Vendor, vendorKey } from '../../api/model/vendor.ts'

/** Keys of the annotations that record the binding of claims and volumes. */
export interface BindingKeys {
  /** Set on a claim after the binding has been completed. */
  readonly bindCompleted: string
  /**
   * Set on a claim or volume if the binder chose the volume or claim to which it is bound. Without the annotation, the
   * binder must not undo the binding.
   */
  readonly boundByController: string
  /** Set on a volume. Names the provisioner that created the volume. */
  readonly provisionedBy: string
  /** Set on a claim. Names the provisioner that should create its volume. `betaProvisioner` is the older key. */
  readonly provisioner: string
  readonly betaProvisioner: string
  /** Set on a claim. Names the node that the scheduler chose for the first Pod that uses the claim. */
  readonly selectedNode: string
  /** Set on a claim or volume. Names the storage class, as an older alternative to the field `storageClassName`. */
  readonly betaClass: string
}

/** Returns the keys of the binding annotations for a vendor. */
export function bindingKeys(vendor: Vendor): BindingKeys {
  return {
    bindCompleted: vendorKey(vendor, 'bind-completed', 'pv'),
    boundByController: vendorKey(vendor, 'bound-by-controller', 'pv'),
    provisionedBy: vendorKey(vendor, 'provisioned-by', 'pv'),
    provisioner: vendorKey(vendor, 'storage-provisioner', 'volume'),
    betaProvisioner: vendorKey(vendor, 'storage-provisioner', 'volume.beta'),
    selectedNode: vendorKey(vendor, 'selected-node', 'volume'),
    betaClass: vendorKey(vendor, 'storage-class', 'volume.beta'),
  }
}

/** Returns the name of the built-in provisioner, which creates hostPath volumes. */
export function hostPathProvisionerName(vendor: Vendor): string {
  return vendorKey(vendor, 'host-path')
}
