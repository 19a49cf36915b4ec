/** UserInfo is the identity of an authenticated user, as returned in reviews. */
import type { User } from '../../model/user.ts'
import { field, type Infer, s } from '../../schema/schema.ts'

export const userInfo = s.object(
  {
    username: field(1, s.string(), { doc: 'Name that identifies the user.' }),
    uid: field(2, s.string(), {
      doc: 'Unique ID of the user. Distinguishes the user from earlier and later users with the same name.',
    }),
    groups: field(3, s.list(s.string()), { doc: 'Groups that the user belongs to.' }),
    extra: field(4, s.map(s.list(s.string())), {
      doc: 'Additional attributes of the user, provided by the authenticator.',
    }),
  },
  { name: 'authentication.v1.UserInfo', doc: 'Identity of an authenticated user.' },
)

export type UserInfo = Infer<typeof userInfo>

/** Converts a user to the format used in reviews. */
export function userInfoOf({ name, uid, groups, extra }: User): UserInfo {
  return {
    username: name,
    ...(uid === '' ? {} : { uid }),
    groups: [...groups],
    ...(extra.size === 0
      ? {}
      : { extra: Object.fromEntries([...extra].map(([key, values]) => [key, [...values]] as const)) }),
  }
}
