/**
 * A certificate and its key, in files specified by two flags. The files are checked at startup and reloaded when they
 * change.
 */
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { CertifiedKey } from '../../api/pki/authority.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { readFlagFile } from '../flags/read-flag-file.ts'
import type { Reloading } from '../flags/reloading.ts'

interface NamedFile {
  readonly flag: string
  /** Path of the file, or '' if its flag is not set. */
  readonly file: string
}

export interface CertificateFileFlags {
  readonly certificate: NamedFile
  readonly key: NamedFile
}

/** A certificate and its key from files, reloaded when the files change. */
export interface CertificateFiles {
  /** The current certificate and key. Undefined if the flags are not set. */
  readonly pair: CertifiedKey | undefined
  onChange(run: () => void): void
}

/** Reads the files and reloads them when they change. Throws UsageError if a file is invalid. */
export function followCertificateFiles(flags: CertificateFileFlags, reloading: Reloading): CertificateFiles {
  let changed = () => {}
  const files = [flags.certificate.file, flags.key.file].filter((file) => file !== '')
  if (files.length > 0)
    reloading.follow(flags.certificate.flag, files, () => {
      pair = readCertificateFiles(flags)
      changed()
    })
  let pair = readCertificateFiles(flags)
  return {
    get pair() {
      return pair
    },
    onChange: (run) => {
      changed = run
    },
  }
}

/**
 * Reads the certificate and key, or returns undefined if the flags are not set. Throws UsageError if a file is invalid.
 */
export function readCertificateFiles({ certificate, key }: CertificateFileFlags): CertifiedKey | undefined {
  if (certificate.file === '' && key.file === '') return undefined
  if (certificate.file === '' || key.file === '')
    throw new UsageError(`--${certificate.flag} and --${key.flag} must be specified together`)
  const pair = { certificate: readFlagFile(certificate.flag, certificate.file), key: readFlagFile(key.flag, key.file) }
  checkPair(pair, { certificate, key })
  return pair
}

function checkPair(pair: CertifiedKey, { certificate, key }: CertificateFileFlags): void {
  if (!canUse({ cert: pair.certificate }))
    throw new UsageError(`--${certificate.flag}: ${certificate.file} contains no usable PEM certificate`)
  if (!canUse({ key: pair.key })) throw new UsageError(`--${key.flag}: ${key.file} contains no usable PEM key`)
  if (!canUse({ cert: pair.certificate, key: pair.key }))
    throw new UsageError(`--${key.flag}: the key in ${key.file} does not match the certificate in ${certificate.file}`)
}

function canUse(context: SecureContextOptions): boolean {
  try {
    createSecureContext(context)
    return true
  } catch {
    return false
  }
}
