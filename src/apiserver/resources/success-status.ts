/** Returns the Status for an action that succeeded and returns nothing else. */
import type { ApiObject } from '../../api/model/object.ts'

export function successStatus(code: number): ApiObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code }
}
