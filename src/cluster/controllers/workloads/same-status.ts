/** Whether two statuses say the same: counts of 0 and empty lists are left out of what the server sends. */
import { sameJson } from '../../../api/json/json.ts'

export function sameStatus(a: object, b: object): boolean {
  return sameJson(withoutEmpty(a), withoutEmpty(b))
}

function withoutEmpty(status: object): object {
  return Object.fromEntries(
    Object.entries(status).filter(([, value]) => value !== 0 && value !== '' && (value as unknown[])?.length !== 0),
  )
}
