/**
 * A PersistentVolumeClaim that another object contains as a template. The server validates each claim on creation, but
 * not the template.
 */
import { type ObjectSchema, unvalidated } from '../../../schema/schema.ts'
import { type PersistentVolumeClaim, persistentVolumeClaim } from '../persistent-volume-claim.ts'

export const claimTemplate: ObjectSchema<PersistentVolumeClaim> = {
  ...unvalidated(persistentVolumeClaim.schema as ObjectSchema<PersistentVolumeClaim>),
  name: 'core.v1.PersistentVolumeClaim',
  keepsDisabledFields: 'all',
  fill: (claim) => {
    claim.apiVersion = 'v1'
    claim.kind = persistentVolumeClaim.kind
  },
}
