/** The only list of kinds: adding one is its file, its test and a line here. */
import type { Kind } from '../schema/kind.ts'
import { certificateSigningRequest } from './certificates/certificate-signing-request.ts'
import { configMap } from './core/config-map.ts'
import { namespace } from './core/namespace.ts'
import { persistentVolume } from './core/persistent-volume.ts'
import { secret } from './core/secret.ts'

export const allKinds: readonly Kind[] = [namespace, configMap, secret, persistentVolume, certificateSigningRequest]
