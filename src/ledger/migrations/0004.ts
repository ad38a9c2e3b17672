/**
 * Schema 4: blobs as rows. What is stored as a file stays one; reads look at both.
 */

export const sql = `
create table blobs (
  sha256 text not null primary key check (length(sha256) = 64),
  bytes  blob not null
) strict;

create trigger blobs_never_change before update on blobs
begin select raise(abort, 'blobs never change'); end;
`
