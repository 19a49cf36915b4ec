/** Defines the annotations in which Kubernetes records the binding of claims and volumes. They are part of the API. */
import { type Vendor, vendorKey } from '../../api/model/vendor.ts'

/** Annotation keys by meaning. */
export interface BindingKeys {
  /** On a claim: the binding has been completed. */
  readonly bindCompleted: string
  /** On a claim or a volume: the binder chose the other object and may undo the binding. */
  readonly boundByController: string
  /** On a volume: the provisioner that created it. */
  readonly provisionedBy: string
  /** On a claim: the provisioner that should create its volume. `betaProvisioner` is the older key. */
  readonly provisioner: string
  readonly betaProvisioner: string
  /** On a claim: the node that the scheduler chose for its first Pod. */
  readonly selectedNode: string
  /** On a claim or a volume: the storage class, in the annotation that preceded the `storageClassName` field. */
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
