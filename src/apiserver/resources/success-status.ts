/** Returns the Status of a successful action without a result. */
import type { ApiObject } from '../../api/model/object.ts'

export function successStatus(code: number): ApiObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code }
}
