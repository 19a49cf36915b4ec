/** The answer of an action that is done and has nothing to show. */
import type { ApiObject } from '../../api/model/object.ts'

export function successStatus(code: number): ApiObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code }
}
