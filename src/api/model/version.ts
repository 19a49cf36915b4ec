/** The version of this package. */
export const version = '0.1.0'
/** The version of the Kubernetes API that is served. */
export const apiLevel = { major: '1', minor: '23', patch: '17' }
