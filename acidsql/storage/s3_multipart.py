"""New objects of S3 made of parts of others, which the store copies itself: multipart uploads with UploadPartCopy.

Hadoop's FileSystem has no such operation, so the requests go through the AWS client of its S3A connector (of Hadoop 3.4
and later).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, TypeAlias

from py4j.protocol import Py4JError, Py4JJavaError

from acidsql.storage.file_systems import Extent, Piece, length_of

LEAST_PART: Final = 5 << 20
"""Bytes that every part has but the last one (Amazon S3, multipart upload limits)."""
_MOST_COPIED: Final = 128 << 20
"""Bytes that one request copies. S3 allows 5 GiB, but several requests at once take less time."""
WRITE_METADATA: Final = "acidsql-write"
"""The metadata of an object that tells which write has made it. A store that did what it was asked to, but whose answer
was lost, refuses the next try because the object exists."""
_S3A: Final = "org.apache.hadoop.fs.s3a.S3AFileSystem"
_OF_THE_STORE: Final = ("NONE", "SSE_S3", "SSE_KMS", "DSSE_KMS")
"""Kinds of encryption (org.apache.hadoop.fs.s3a.S3AEncryptionMethods) with which the store can read an object without a
key of the client's."""
_THREADS: Final = 8
_NOT_IMPLEMENTED: Final = 501

Part: TypeAlias = "Extent | tuple[Piece, ...]"
"""A part that the store copies, or the pieces of a part that is uploaded."""


def parts(pieces: Iterable[Piece], least: int = LEAST_PART, most: int = _MOST_COPIED) -> Iterator[Part]:
    """The pieces as the parts of an upload: each but the last has `least` bytes or more, and each copied one `most` or
    fewer. `most` is at least twice `least`."""
    uploaded: list[Piece] = []
    for piece in pieces:
        rest = piece
        missing = least - sum(map(length_of, uploaded))
        if isinstance(piece, Extent) and uploaded and missing > 0:
            head = min(piece.length, missing)
            uploaded.append(Extent(piece.path, piece.start, head))
            rest = Extent(piece.path, piece.start + head, piece.length - head)
        if isinstance(rest, Extent) and rest.length >= least:
            if uploaded:
                yield tuple(uploaded)
            uploaded = []
            yield from _copied(rest, most)
        elif length_of(rest):
            uploaded.append(rest)
    if uploaded:
        yield tuple(uploaded)


def _copied(extent: Extent, most: int) -> Iterator[Extent]:
    """The extent in parts of about the same length."""
    count = -(-extent.length // most)
    bounds = (extent.start + extent.length * number // count for number in range(count + 1))
    yield from (Extent(extent.path, start, end - start) for start, end in pairwise(bounds))


def is_s3a(fs: Any) -> bool:
    """Whether a file system of Hadoop is one of S3."""
    return bool(fs.getClass().getName() == _S3A)


@dataclass(slots=True)
class S3Bucket:
    """A bucket whose store copies parts of objects. `java` is Py4J's view of the JVM, `fs` the file system of S3A."""

    java: Any
    fs: Any
    _takes_conditions: bool = True
    """Whether the store, as far as is known, completes an upload only if no such object exists (If-None-Match)."""

    @classmethod
    def of(cls, java: Any, fs: Any) -> S3Bucket | None:
        """The bucket of a file system of Hadoop; None if it is not one of S3, if clients encrypt its objects, or if its
        Hadoop has no access to the client."""
        if not is_s3a(fs):
            return None
        try:
            fs.getS3AInternals()
            encryption = str(fs.getRequestFactory().getServerSideEncryptionAlgorithm().name())
        except Py4JError:  # Hadoop before 3.4
            return None
        return cls(java, fs) if encryption in _OF_THE_STORE else None

    def assemble(self, path: str, of: Sequence[Part], read: Callable[[Piece], bytes], write: str) -> None:
        """Makes an object, with `write` as its metadata WRITE_METADATA. Nothing is there before the last request, and
        nothing remains of an upload that fails.

        Raises Py4JJavaError if a request fails, or if the object exists and the store takes conditions.
        """
        create = self.fs.getRequestFactory().newMultipartUploadRequestBuilder(self._key(path), None)  # with encryption
        create = create.metadata(self.java.java.util.Collections.singletonMap(WRITE_METADATA, write))
        upload = self._client.createMultipartUpload(create.build()).uploadId()

        def named(request: Any) -> Any:
            builder = getattr(self._model, request).builder()
            return builder.bucket(self.fs.getBucket()).key(self._key(path)).uploadId(upload)

        def put(number: int, part: Part) -> Any:
            """Copies or uploads a part, and gives its number and tag as S3 wants them back."""
            if isinstance(part, Extent):
                copy = self._model.UploadPartCopyRequest.builder().sourceBucket(self._path(part.path).toUri().getHost())
                copy = copy.sourceKey(self._key(part.path)).destinationBucket(self.fs.getBucket())
                copy = copy.copySourceRange(f"bytes={part.start}-{part.start + part.length - 1}").uploadId(upload)
                copy = copy.destinationKey(self._key(path)).partNumber(number)
                tag = self._client.uploadPartCopy(copy.build()).copyPartResult().eTag()
            else:
                body = self.java.software.amazon.awssdk.core.sync.RequestBody.fromBytes(b"".join(map(read, part)))
                tag = self._client.uploadPart(named("UploadPartRequest").partNumber(number).build(), body).eTag()
            return self._model.CompletedPart.builder().partNumber(number).eTag(tag).build()

        try:
            with ThreadPoolExecutor(_THREADS) as pool:
                done = list(pool.map(put, range(1, len(of) + 1), of))
            all_parts = self.java.java.util.ArrayList()
            for part in done:
                all_parts.add(part)
            whole = self._model.CompletedMultipartUpload.builder().parts(all_parts).build()
            self._complete(named("CompleteMultipartUploadRequest").multipartUpload(whole))
        except BaseException:
            with suppress(Py4JJavaError):
                self._client.abortMultipartUpload(named("AbortMultipartUploadRequest").build())
            raise

    def _complete(self, request: Any) -> None:
        conditional = self._conditional(request)
        try:
            self._client.completeMultipartUpload(conditional.build())
        except Py4JJavaError as error:
            if conditional is request or _status(error) != _NOT_IMPLEMENTED:
                raise
            self._takes_conditions = False
            self._client.completeMultipartUpload(request.build())

    def _conditional(self, request: Any) -> Any:
        if self._takes_conditions:
            try:
                return request.copy().ifNoneMatch("*")
            except Py4JError:  # a client of before November 2024
                self._takes_conditions = False
        return request

    @property
    def _client(self) -> Any:
        return self.fs.getS3AInternals().getAmazonS3Client("acidsql")

    @property
    def _model(self) -> Any:
        return self.java.software.amazon.awssdk.services.s3.model

    def _path(self, path: str) -> Any:
        return self.java.org.apache.hadoop.fs.Path(path)

    def _key(self, path: str) -> str:
        return str(self.fs.pathToKey(self._path(path)))


def _status(error: Py4JJavaError) -> int | None:
    """The status of a request that the store refused; None if it did not answer."""
    try:
        return int(error.java_exception.statusCode())
    except Py4JError:
        return None
