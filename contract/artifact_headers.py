"""How the raw bytes of an artifact say in HTTP what they are: the headers of `/content`, for both ends.

ETag                         the SHA-256 of the whole file, in quotes
Content-Disposition          FILE_NAME_PREFIX and the file's name, percent-encoded (RFC 8187)
Studio-Artifact-Size         bytes of the whole file
Studio-Artifact-Truncated    `true` where fewer were sent, else `false`
"""

from typing import Final

CONTENT_TYPE: Final = "Content-Type"
CONTENT_DISPOSITION: Final = "Content-Disposition"
ETAG: Final = "ETag"
SIZE_BYTES: Final = "Studio-Artifact-Size"
TRUNCATED: Final = "Studio-Artifact-Truncated"
FILE_NAME_PREFIX: Final = "attachment; filename*=UTF-8''"
