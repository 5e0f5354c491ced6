"""What custodians and operators mend by hand: data sets, records without an entry, a home folder after a disaster."""
