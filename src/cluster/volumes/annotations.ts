/** The annotations by which claims and volumes carry the state of their binding. They are part of the API. */
import { type Vendor, vendorKey } from '../../api/model/vendor.ts'

/** The annotations by their meaning. */
export interface BindingKeys {
  /** On a claim: it was bound completely once. */
  readonly bindCompleted: string
  /** On a claim or a volume: the binder chose the other side, and may take that back. */
  readonly boundByController: string
  /** On a volume: which provisioner made it. */
  readonly provisionedBy: string
  /** On a claim: which provisioner is to make its volume; the second is the older name. */
  readonly provisioner: string
  readonly betaProvisioner: string
  /** On a claim: the node that the scheduler chose for its first Pod. */
  readonly selectedNode: string
  /** On a claim or a volume: its class, from before there was the field. */
  readonly betaClass: string
}

/** The annotations in the names of a vendor. */
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

/** The provisioner that is built in. */
export function hostPathProvisionerName(vendor: Vendor): string {
  return vendorKey(vendor, 'host-path')
}
