/** Returns the Status for a successful action that has no other result. */
import type { ApiObject } from '../../api/model/object.ts'

export function successStatus(code: number): ApiObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code }
}
